// The stores of a gateway: their names in the account and their settings in weir.toml.

import { hasArchive, nameOf, type StoreIds, type WeirSettings } from '../settings/weir-settings.ts'

export interface Store {
  readonly kind: 'D1' | 'KV' | 'R2'
  readonly binding: string
  readonly name: string
  /** Its key in `[ids]`. Null: the store has no id. */
  readonly setting: keyof StoreIds | null
  readonly id: string | undefined
}

/** The state of a store in the account. `id`: of the store that has its name. `gone`: no store has the id in weir.toml. */
export type StoreState =
  | { readonly state: 'there'; readonly id: string; readonly location: string | null }
  | { readonly state: 'missing' | 'gone' }

export function storesOf(settings: WeirSettings): Store[] {
  const { ids } = settings
  const name = (part: string) => `${nameOf(settings)}-${part}`
  const database = (setting: 'accounts' | 'usage' | 'history') =>
    ({ kind: 'D1', binding: setting.toUpperCase(), name: name(setting), setting, id: ids[setting] }) as const
  return [
    database('accounts'),
    database('usage'),
    ...(hasArchive(settings) ? [database('history')] : []),
    { kind: 'KV', binding: 'KEYS', name: name('keys'), setting: 'keys', id: ids.keys },
    ...(hasArchive(settings)
      ? [{ kind: 'R2', binding: 'ARCHIVE', name: name('archive'), setting: null, id: undefined } as const]
      : []),
  ]
}

export const storeText = ({ kind, name }: Store): string => `${kind} ${name}`
