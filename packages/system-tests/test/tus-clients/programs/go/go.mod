module holdfast/tus-client

go 1.18

require github.com/bdragon300/tusgo v0.1.0
