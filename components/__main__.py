"""Serves the components to the Pulumi engine, for programs in any language. Started by the engine."""

import sys

from pulumi.provider import main

from trainyard.components.plugin import provider

main(provider(), sys.argv[1:])
