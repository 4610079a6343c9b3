// The documentation of the schema: subscriptions, their arguments, and the types of their results.

import { useSignal } from '@preact/signals'
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isObjectType,
} from 'graphql'
import { Button } from '../ui/frame.tsx'
import * as strings from './playground-strings.ts'

interface SchemaDocsProps {
  readonly schema: GraphQLSchema
  /** Credits in words, by subscription. */
  readonly prices: Readonly<Record<string, string>>
  readonly onInsert: (subscription: string) => void
}

type Field = GraphQLField<unknown, unknown>

export function SchemaDocs({ schema, prices, onInsert }: SchemaDocsProps) {
  const typed = useSignal('')
  /** Names of the opened types, the last one is shown. */
  const path = useSignal<readonly string[]>([])
  const type = schema.getType(path.value.at(-1) ?? '')
  const open = (name: string) => {
    path.value = [...path.value, name]
  }
  if (type !== undefined)
    return (
      <>
        <p class="beside">
          <Button text={strings.docsBack} class="plain" onClick={() => (path.value = [])} />
          {path.value.slice(0, -1).map((name, at) => (
            <Button key={name} text={name} class="plain" onClick={() => (path.value = path.value.slice(0, at + 1))} />
          ))}
        </p>
        <TypeDocs type={type} onOpen={open} />
      </>
    )
  const words = typed.value.trim().toLowerCase()
  const subscriptions = Object.values(schema.getSubscriptionType()?.getFields() ?? {}).filter((field) =>
    `${field.name} ${field.description ?? ''}`.toLowerCase().includes(words),
  )
  return (
    <>
      <label for="find-subscription">{strings.docsFind}</label>
      <input
        id="find-subscription"
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      {subscriptions.length === 0 && <p class="soft">{strings.docsNone}</p>}
      {subscriptions.map((field) => (
        <details key={field.name}>
          <summary>
            <code>{field.name}</code>
          </summary>
          <p>
            {field.description}. <span class="soft">{strings.price(prices[field.name] ?? '')}.</span>
          </p>
          <FieldArguments field={field} onOpen={open} />
          <p class="beside">
            <Button text={strings.docsInsert(field.name)} onClick={() => onInsert(field.name)} />
            <TypeLink type={field.type} onOpen={open} />
          </p>
        </details>
      ))}
    </>
  )
}

interface OpenProps {
  readonly onOpen: (type: string) => void
}

function FieldArguments({ field, onOpen }: OpenProps & { readonly field: Field }) {
  if (field.args.length === 0) return null
  return (
    <>
      <h3>{strings.docsArguments}</h3>
      <ul>
        {field.args.map((arg) => (
          <li key={arg.name}>
            <code>{arg.name}</code>: <TypeLink type={arg.type} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </>
  )
}

function TypeDocs({ type, onOpen }: OpenProps & { readonly type: GraphQLNamedType }) {
  return (
    <>
      <h3>
        <code>{type.name}</code>
      </h3>
      {type.description && <p>{type.description}</p>}
      {isObjectType(type) ? (
        <>
          <h4>{strings.docsFields}</h4>
          <ul>
            {Object.values(type.getFields()).map((field) => (
              <li key={field.name}>
                <code>{field.name}</code>: <TypeLink type={field.type} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p class="soft">{strings.docsValues}</p>
      )}
    </>
  )
}

const TypeLink = ({ type, onOpen }: OpenProps & { readonly type: GraphQLType }) => (
  <Button text={String(type)} class="plain type" onClick={() => onOpen(getNamedType(type).name)} />
)
