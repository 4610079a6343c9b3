// The public SDKs that package.json beside this names.

import { join } from 'node:path'
import { missingIn, placeOf } from '../installed.ts'

export const PLACE = placeOf('clients')
export const MODULES = join(PLACE, 'node_modules')

/** Null, or why the SDKs of npm are not there. */
export const installClients = (): string | null => missingIn(PLACE, import.meta.dirname)
