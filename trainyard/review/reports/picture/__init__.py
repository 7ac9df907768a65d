"""The picture of an environment: what there is (`model`), read from the recorded resources, and where it is drawn.

`read` makes a `Picture` of the resources of any program, its own or someone else's; `layout` gives every box its place
for one width, out of `blocks`; `draw` makes the SVG of three widths, so that the page shows the one that fits.
"""
