// Reads weir.toml, and adds what a command decides for the operator. Invariant: an addition changes nothing else, or the file
// stays as it is.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { writeAtomically } from '../../core/atomic-file.node.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { type SettingPath, withSetting } from './toml-edit.ts'
import { WeirSettings } from './weir-settings.ts'

const FILE = 'weir.toml'
const HEADING = '# Settings of this gateway: docs/operators/reference/settings.md. There are no secrets here.\n'

/** The settings of a folder, which are all defaults without a file. The error has one line for each fault. */
export function readSettings(folder: string): Result<WeirSettings, string> {
  try {
    return parseSettings(settingsText(folder))
  } catch (error) {
    return err(`${FILE} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The file of a folder; empty if there is none. */
export function settingsText(folder: string): string {
  const file = join(folder, FILE)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The settings of a file's text. */
export function parseSettings(text: string): Result<WeirSettings, string> {
  const table = readTable(text)
  if (!table.ok) return table
  const parsed = parseWith(WeirSettings, table.value)
  if (parsed.ok) return parsed
  return err(parsed.error.map(({ path, message }) => `${FILE}: ${path} ${message}.`).join('\n'))
}

/** The text with a setting that it does not have. `literal`: its value in TOML. */
export function withAdded(text: string, path: SettingPath, literal: string): Result<string, string> {
  const added = withSetting(text === '' ? HEADING : text, path, literal)
  return isAddition(text, added, path)
    ? ok(added)
    : err(`${FILE} could not be edited. Add this to it: ${path.join('.')} = ${literal}`)
}

/** Adds a setting to the file of a folder. */
export function addSetting(folder: string, path: SettingPath, literal: string): Result<WeirSettings, string> {
  const added = withAdded(settingsText(folder), path, literal)
  if (!added.ok) return added
  const { file, mode } = placeOf(join(folder, FILE))
  writeAtomically(file, added.value, mode)
  return parseSettings(added.value)
}

/** The file has no secrets, so its mode is the operator's. A link to it stays a link. */
function placeOf(path: string): { readonly file: string; readonly mode: number } {
  return existsSync(path)
    ? { file: realpathSync(path), mode: statSync(path).mode & 0o777 }
    : { file: path, mode: 0o644 }
}

/** Whether the second text has the content of the first and one value more. */
function isAddition(before: string, after: string, [first, second]: SettingPath): boolean {
  const old = readTable(before)
  const added = readTable(after)
  if (!old.ok || !added.ok) return false
  const { [first]: was, ...kept } = old.value
  const { [first]: value, ...others } = added.value
  if (!isDeepStrictEqual(others, kept)) return false
  if (second === undefined) return was === undefined && value !== undefined
  const { [second]: one, ...rest } = value as Record<string, unknown>
  return one !== undefined && isDeepStrictEqual(rest, { ...(was as object | undefined) })
}

function readTable(text: string): Result<Record<string, unknown>, string> {
  try {
    return ok({ ...parse(text) })
  } catch (error) {
    return err(`${FILE} is not valid TOML: ${error instanceof Error ? error.message.trim() : String(error)}`)
  }
}
