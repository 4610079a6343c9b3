// The name of the client package on npm. It is a setting: `name` in packages/client/package.json.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = join(import.meta.dirname, '../../packages/client/package.json')

/** The name of the package in comments, documents, examples and tests. */
const DOCUMENTED_NAME = '@weir/client'

/**
 * @returns The text with the name that is set instead of the documented one.
 */
export function withPackageName(text: string): string {
  const { name } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly name: string }
  return text.replaceAll(DOCUMENTED_NAME, name)
}
