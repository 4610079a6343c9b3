// Where the plant's bundles lie, below the root, and what its gateway and its feeder share.

export const BUNDLES = 'dist/pipelines'
export const FEED_TOKEN = 'feed-token-of-the-plant-of-pipelines!!'
