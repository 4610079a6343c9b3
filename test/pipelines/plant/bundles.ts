// The folder of the bundles, relative to the repository root.

export const BUNDLES = 'dist/pipelines'
