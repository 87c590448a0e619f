"""How numbers are written for people: percent with one digit, real minus signs, intervals, p, durations."""

from comdiv.evaluation.significance import Interval


def percent(share: float) -> str:
    """48.4 for 0.484: tables say "%" once, in their captions."""
    return f"{100 * share:.1f}"


def signed(value: float, digits: int = 1) -> str:
    """With its sign, and a real minus; what rounds to nothing has none."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def signed_percent(difference: float) -> str:
    """A difference of shares in points."""
    return signed(100 * difference)


def interval_text(interval: Interval) -> str:
    """An interval of shares in percent."""
    return f"{_minus(100 * interval[0])} to {_minus(100 * interval[1])}"


def p_text(p: float) -> str:
    """A p-value with as much precision as it has."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def duration(seconds: float) -> str:
    """12 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _minus(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")
