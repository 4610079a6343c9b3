// Which files of the repository are pages of the documentation, or are quoted on them: patterns below its root.

export const DOCUMENTS: readonly string[] = [
  '*.md',
  'docs/**/*.md',
  'examples/*.{md,ts,py,sh,html}',
  'schemas/storage.md',
]
