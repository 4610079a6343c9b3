// The published client package: its files, and bundles of programs that use it.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'vite'

const ROOT = join(import.meta.dirname, '../../..')
export const PACKAGE = join(ROOT, 'dist/packages/client')

interface Manifest {
  readonly name: string
  readonly version: string
}

export const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The file that `npm install` takes, with the name that npm gives it. */
export function tarball(): string {
  const { name, version } = manifestOf(PACKAGE)
  return join(dirname(PACKAGE), `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`)
}

/** Builds the package into dist/packages. */
export function buildPackage(): void {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/build-client.ts')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}

/** One module of all that `entry` imports, with the packages that are installed in its folder. */
export async function bundleOf(entry: string, isMinified = false): Promise<string> {
  const built = await build({
    root: dirname(entry),
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2022',
      minify: isMinified,
      copyPublicDir: false,
      lib: { entry, formats: ['es'], fileName: 'bundle' },
      rollupOptions: { external: ['zod'] },
    },
  })
  const [{ output }] = built as unknown as [{ output: readonly { readonly code: string }[] }]
  return output.map(({ code }) => code).join('\n')
}
