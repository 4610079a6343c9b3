// The public SDKs and generators in package.json next to this file. AsyncAPI's many packages are separate.

import { join } from 'node:path'
import { missingIn, placeOf } from '../installed.ts'

export const PLACE = placeOf('clients')
export const MODULES = join(PLACE, 'node_modules')

/** Null, or why the npm SDKs are missing. */
export const installClients = (): string | null => missingIn(PLACE, import.meta.dirname)

const ASYNCAPI = placeOf('asyncapi')
export const ASYNCAPI_MODULES = join(ASYNCAPI, 'node_modules')

/** Null, or why the npm packages of AsyncAPI are missing. */
export const installAsyncApi = (): string | null => missingIn(ASYNCAPI, join(import.meta.dirname, 'asyncapi'))
