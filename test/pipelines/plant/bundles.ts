// Where the plant's bundles lie, below the root.

export const BUNDLES = 'dist/pipelines'
