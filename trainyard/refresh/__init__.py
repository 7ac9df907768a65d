"""Current prices from the clouds' price APIs, compared with the catalogue. `refresh.refresh` is the way in."""
