// The public SDKs in package.json next to this file.

import { join } from 'node:path'
import { missingIn, placeOf } from '../installed.ts'

export const PLACE = placeOf('clients')
export const MODULES = join(PLACE, 'node_modules')

/** Null, or why the npm SDKs are missing. */
export const installClients = (): string | null => missingIn(PLACE, import.meta.dirname)
