// The pages of src/console, built by Vite into files with hashes in their names. Law: nothing in them is inline, or the
// policy that they are served under would stop it.

import { join } from 'node:path'
import { build } from 'vite'

/** Pages by the name of their address. */
const PAGES = ['console', 'live', 'status']

/** Writes `outDir` anew. Throws with Vite's own words. */
export async function buildConsole(root: string, outDir: string): Promise<void> {
  const folder = join(root, 'src/console')
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    // Whatever the environment says: of some packages the form for development is a quarter larger.
    resolve: { conditions: ['module', 'browser', 'production'] },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: PAGES.map((page) => join(folder, `${page}.html`)) },
    },
  })
}
