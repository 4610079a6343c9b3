// Independent validators of the published descriptions of the API.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ASYNCAPI_MODULES, MODULES } from './install.ts'

interface Problem {
  readonly message: string
}
interface Readme {
  validate(document: object, options: object): Promise<{ readonly valid: boolean }>
  compileErrors(result: object): string
}
interface Redocly {
  createConfig(config: object): Promise<object>
  lintFromString(input: object): Promise<readonly Problem[]>
}
interface AsyncApi {
  readonly Parser: new () => {
    parse(text: string): Promise<{ readonly diagnostics: readonly (Problem & { readonly severity: number })[] }>
  }
}

const load = async <Module>(...path: [modules: string, file: string]) =>
  (await import(pathToFileURL(join(...path)).href)) as Module

/** Errors of an OpenAPI document according to two validators. */
export async function openApiFaults(document: object): Promise<readonly string[]> {
  const { validate, compileErrors } = await load<Readme>(MODULES, '@readme/openapi-parser/dist/index.js')
  const { createConfig, lintFromString } = await load<Redocly>(MODULES, '@redocly/openapi-core/lib/index.js')
  const config = await createConfig({ extends: ['spec'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  // Its rule is of an earlier version: OpenAPI 3.1 allows arrays with only `prefixItems`.
  const rules = { openapi: { 'array-without-items': 'warning' } }
  // It resolves references in place.
  const result = await validate(structuredClone(document), { validate: { rules } })
  return [...problems.map(({ message }) => message), ...(result.valid ? [] : [compileErrors(result)])]
}

/** Errors and warnings of an AsyncAPI document; hints, such as of a newer version, do not count. */
export async function asyncApiFaults(text: string): Promise<readonly string[]> {
  const { Parser } = await load<AsyncApi>(ASYNCAPI_MODULES, '@asyncapi/parser/cjs/index.js')
  const { diagnostics } = await new Parser().parse(text)
  return diagnostics.filter(({ severity }) => severity <= 1).map(({ message }) => message)
}
