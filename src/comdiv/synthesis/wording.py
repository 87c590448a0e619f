"""Rewriting a donor's clause for the seed's people and things: names by role, and the unit of x.

Each name in the donor's clause (its actor, the object it counts, the two sides of its comparison) becomes the seed's
name with the same role, and its unit becomes that of x. A name that is still foreign refers to nothing in the product,
so the donor is refused: "运来苹果多少千克" cannot be answered in a story about cabbages. Foreign verbs are allowed, at
a price: whether it is 修 or 铺, a road is a road.
"""

from collections.abc import Mapping

from comdiv.expression import used_quantities
from comdiv.language import Language
from comdiv.reading import read_text
from comdiv.synthesis.donors import Surroundings
from comdiv.synthesis.rules import ProductRule
from comdiv.synthesis.sense import Referent, unknown_side
from comdiv.synthesis.tale import Seed, Tale


def product_roles(seed: Seed, product: ProductRule) -> dict[str, str]:
    """The seed's names by the product's quantities; a clause that states x takes the roles of the one it replaces."""
    roles = {role: name for role, name in seed.tale.roles.items() if not role[-1].isdigit()}
    ranks_of_x = used_quantities(seed.rule.x) if seed.rule.kind == "decomposition" else []
    for rank, of_seed in enumerate(seed.rule.quantities_of(product)):
        source = of_seed if of_seed is not None else ranks_of_x[0] if len(ranks_of_x) == 1 else None
        for role, name in seed.tale.roles.items():
            if source is not None and role.endswith(str(source)):
                roles[role.removesuffix(str(source)) + str(rank)] = name
    return roles


def match_names(
    donor: Tale, seed: Seed, product: ProductRule, ours: Mapping[str, str], referent: Referent | None
) -> dict[str, str]:
    """The donor's names and the seed's names that replace them, by role; x keeps its own name if it has one."""
    theirs = donor.roles
    names = {
        name: ours[role]
        for role, name in sorted(theirs.items())
        if role in ours and not role.startswith(("more", "less", "pair"))
    }
    known = seed.tale.roles.get("object0") or seed.tale.roles.get("actor")
    for role, name in theirs.items():  # a comparison without a subject is about what was mentioned before
        if role.startswith("compared") and role not in ours and known is not None:
            names.setdefault(name, known)
    for rank in range(len(donor.operands)):
        pair, topic = theirs.get(f"pair{rank}"), _topic(ours, rank)
        if pair is not None and topic is not None:
            names[pair] = topic
    if referent is not None and product.rank is None:
        side = unknown_side(donor, product.tree)
        names |= {} if side is None else {side.wanted: referent.wanted}
    elif referent is not None:
        counted, actor = theirs.get(f"object{product.rank}"), theirs.get("actor") or theirs.get("person")
        subject = actor if counted is None or _is_actor(referent.wanted, seed) else counted
        names |= {} if subject is None else {subject: referent.wanted}
    thing = next((name for role, name in sorted(ours.items()) if role.startswith("object")), None)
    for role, name in sorted(theirs.items()):
        if role.startswith("object") and thing is not None and name not in names:
            names[name] = thing
    return names


def _topic(roles: Mapping[str, str], rank: int) -> str | None:
    """What a clause of a story is about: what it measures or counts, else the owner."""
    ranked = (f"{role}{rank}" for role in ("measured", "turn", "object", "actor"))
    return next((roles[role] for role in ranked if role in roles), None)


def _is_actor(name: str, seed: Seed) -> bool:
    """Whether a name resembles the seed's actor rather than its objects: 五年级 and 六年级 have the same ending."""
    roles = seed.tale.roles
    actor = roles.get("actor") or roles.get("person") or ""
    return (
        name == roles.get("person")
        or (bool(actor) and actor[-1] == name[-1])
        or not any(role.startswith("object") for role in roles)
    )


def rewrite(text: str, names: Mapping[str, str]) -> str:
    """The clause with the donor's names replaced by the seed's; longest first, no part of the text twice."""
    for name in sorted(names, key=lambda name: (-len(name), name)):
        if name != names[name] and name in text:
            before, _, after = text.partition(name)
            return rewrite(before, names) + names[name] + rewrite(after, names)
    return text


def rewrite_unit(
    text: str, old: str | None, unit: str, around: Surroundings, language: Language, *, first: bool
) -> str | None:
    """The clause with another unit, 还剩多少页 for 还剩多少本; None if the old or the new unit is not written out.

    After a number, the unit comes first; in a question, the unit asked for comes last.
    """
    if old is None:
        return None
    if not language.spaced:
        place = text.find(old) if first else text.rfind(old)
        return None if place < 0 or (first and place > 0) else f"{text[:place]}{unit}{text[place + len(old) :]}"
    # Only in the form written there: "how many cup" is not English.
    forms = (token for token in around.tokens if token.startswith(unit) and token in around.text)
    new = max(forms, key=lambda form: (len(form), form), default=None)
    places = [token for token in read_text(text, language).tokens if token.text.lower().startswith(old)]
    if new is None or not places:
        return None
    token = places[0] if first else places[-1]
    return f"{text[: token.start]}{new}{text[token.end :]}"
