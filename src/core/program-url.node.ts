// Programs that other processes and threads run: TypeScript in the repository, JavaScript in a package.

import { extname } from 'node:path'

/** URL of the program `name` beside the module of `meta`. */
export function programUrl(meta: ImportMeta, name: string): URL {
  return new URL(`./${name}.node${extname(meta.filename)}`, meta.url)
}
