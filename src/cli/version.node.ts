// This installation: its folder and its version.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

const Manifest = z.object({ version: z.string() })

/** Folder of the repository or of the installed package: it has `dist`, `schemas` and the wrangler files. */
export const ROOT = join(import.meta.dirname, '../..')

export const WEIR_VERSION = Manifest.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).version
