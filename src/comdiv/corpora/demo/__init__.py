"""The demo corpora: original word problems in English and Chinese, made by code from scenario data, free to share."""
