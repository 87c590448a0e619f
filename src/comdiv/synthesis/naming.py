"""Who is who in a product: the seed's names by role, and which of them takes the place of which of the donor's."""

from collections.abc import Mapping

from comdiv.expression import used_quantities
from comdiv.synthesis.reading import Reading
from comdiv.synthesis.rules import ProductRule
from comdiv.synthesis.seeds import Seed
from comdiv.synthesis.sense import Referent, unknown_side


def product_roles(seed: Seed, product: ProductRule) -> dict[str, str]:
    """The seed's names by the product's quantities; a clause that states x takes the roles of the one it replaces."""
    roles = {role: name for role, name in seed.reading.roles.items() if not role[-1].isdigit()}
    ranks_of_x = used_quantities(seed.rule.x) if seed.rule.kind == "decomposition" else []
    for rank, of_seed in enumerate(seed.rule.quantities_of(product)):
        source = of_seed if of_seed is not None else ranks_of_x[0] if len(ranks_of_x) == 1 else None
        for role, name in seed.reading.roles.items():
            if source is not None and role.endswith(str(source)):
                roles[role.removesuffix(str(source)) + str(rank)] = name
    return roles


def renamed(
    donor: Reading, seed: Seed, product: ProductRule, ours: Mapping[str, str], referent: Referent | None
) -> dict[str, str]:
    """The donor's names and the seed's names that take their place, by role; x has its own name where it has one."""
    theirs = donor.roles
    names = {
        name: ours[role]
        for role, name in sorted(theirs.items())
        if role in ours and not role.startswith(("more", "less", "pair"))
    }
    known = seed.reading.roles.get("object0") or seed.reading.roles.get("actor")
    for role, name in theirs.items():  # a comparison that leaves its subject out is about what was spoken of before
        if role.startswith("compared") and role not in ours and known is not None:
            names.setdefault(name, known)
    for rank in range(len(donor.used)):
        pair, topic = theirs.get(f"pair{rank}"), _topic(ours, rank)
        if pair is not None and topic is not None:
            names[pair] = topic
    if referent is not None and product.rank is None:
        side = unknown_side(donor, product.tree)
        names |= {} if side is None else {side.wanted: referent.wanted}
    elif referent is not None:
        counted, actor = theirs.get(f"object{product.rank}"), theirs.get("actor") or theirs.get("person")
        named = actor if counted is None or _is_actor(referent.wanted, seed) else counted
        names |= {} if named is None else {named: referent.wanted}
    thing = next((name for role, name in sorted(ours.items()) if role.startswith("object")), None)
    for role, name in sorted(theirs.items()):
        if role.startswith("object") and thing is not None and name not in names:
            names[name] = thing
    return names


def _topic(roles: Mapping[str, str], rank: int) -> str | None:
    """What a clause of a story is about: what is measured or counted in it, else whose it is."""
    return next(
        (roles[f"{role}{rank}"] for role in ("measured", "turn", "object", "actor") if f"{role}{rank}" in roles), None
    )


def _is_actor(name: str, seed: Seed) -> bool:
    """Whether a name is of the kind of the seed's actor, not of its objects: they end alike, 五年级 and 六年级."""
    roles = seed.reading.roles
    actor = roles.get("actor") or roles.get("person") or ""
    return (
        name == roles.get("person")
        or (bool(actor) and actor[-1] == name[-1])
        or not any(role.startswith("object") for role in roles)
    )
