"""Penn Treebank tags of English words, by the tagger and the lexicon that textblob bundles.

`import textblob` also imports NLTK, scipy.stats and scikit-learn, which takes seconds; the tagger is one file that
needs none of them. It is loaded alone, on first use.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError


@lru_cache(maxsize=65_536)
def tag_words(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Words of a clause, each with its tag; the same as `textblob.en.tag` gives."""
    if not words:
        return ()
    tagger, lexicon = _tagger()
    lines = " ".join(words).split("\n")  # a number such as "12 %" is two words to the tagger
    tags = [tag for line in lines for tag in tagger.find_tags(line.split(" "), lexicon=lexicon, language="en")]
    return tuple((str(word), str(tag)) for word, tag in tags)


@cache
def _tagger() -> tuple[Any, Any]:
    """textblob's module of taggers, and its English lexicon."""
    package = find_spec("textblob")
    folder = None if package is None or package.origin is None else Path(package.origin).parent
    spec = None if folder is None else spec_from_file_location("_comdiv_textblob_tagger", folder / "_text.py")
    if folder is None or spec is None or spec.loader is None:
        raise ComdivError("English needs the package textblob: pip install textblob")
    tagger: Any = module_from_spec(spec)
    spec.loader.exec_module(tagger)
    return tagger, tagger.Lexicon(path=str(folder / "en" / "en-lexicon.txt"), language="en")
