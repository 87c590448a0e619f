"""`python -m comdiv` is `comdiv`."""

from comdiv.cli import main

if __name__ == "__main__":
    main()
