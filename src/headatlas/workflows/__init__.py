"""The two things headatlas does with a model: map its heads, and verify the map."""
