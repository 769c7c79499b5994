"""The attach server: sessions over HTTP. It sends commands and hands on events; it holds no truth."""
