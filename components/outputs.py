"""What a component hands out: the attributes that its class declares, under the names that other languages see."""

import inspect

import pulumi


def register(component: pulumi.ComponentResource) -> None:
    """Ends a component's `__init__`: registers every attribute that its class annotates, `dns_name` as `dnsName`.

    The schema for other languages comes from the same annotations (`plugin.py`), so both name the same outputs.
    """
    declared = inspect.get_annotations(type(component))
    component.register_outputs({_camel_case(name): getattr(component, name) for name in declared})


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
