// The published client package, and bundles of programs that use it.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'vite'

const ROOT = join(import.meta.dirname, '../../..')
export const PACKAGE = join(ROOT, 'dist/client')

/** Builds the package into dist/client. */
export function buildPackage(): void {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/build-client.ts')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}

/** One module of all that `entry` imports, with the package where it is imported. */
export async function bundleOf(entry: string, isMinified = false): Promise<string> {
  const alias = ['books', 'schemas', ''].map((name) => ({
    find: name === '' ? /^weir-client$/ : `weir-client/${name}`,
    replacement: join(PACKAGE, `${name || 'index'}.js`),
  }))
  const built = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    resolve: { alias },
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
