"""Data augmentation (§IV): new compositions from a training set's own problems, checked, ranked, round after round."""

from comdiv.augmentation.algorithm import augment_dataset
from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.source import ban_hashes

__all__ = ["AugmentationOptions", "augment_dataset", "ban_hashes"]
