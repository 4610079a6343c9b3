// Every leaf of every response and frame is typed: the published schema rejects another kind of value in its place, and
// a missing key. Together the responses of a type contain every field of its schema.

import { expect, it } from 'vitest'
import { exampleFrames } from '../../src/http/docs/definition-text.ts'
import { CATALOGUE } from '../../src/info/queries/catalogue.ts'
import { publishedFrame } from '../../src/relay/channel.ts'
import { CHANNELS } from '../../src/relay/channels/catalogue.ts'
import { changed, isRow, knownTo, parts, places, shownBy, wrongFor } from './leaves.ts'
import { MORE_ANSWERS, MORE_FRAMES } from './more-answers.ts'

/** Untyped fields: no response with a trial is known. */
const UNTYPED = ['userFees.trial']

/** Rows whose second element may be null. */
const NULL_IN_ROW = 'predictedFundings[][1][][1]'

/** Maps by coin or DEX, without required keys. */
const MAPS = /^(allMids( frame\.data\.mids)?|clearinghouseState|portfolioState\.clearinghouseState)$/

/** Free text, whatever it looks like. */
const OPAQUE = /\.cursor$/

/** Unknown kinds, with free fields. */
const TOMORROW = /OfTomorrow(?!>\.(type|role|status)$)/

/** Keys that the exchange always sends today, but that old recordings lack. */
const LATER = new RegExp(
  [
    String.raw`\.(marginTableId|marginTables|collateralToken|nRequestsSurplus)`,
    String.raw`\.(position\.maxLeverage|cumFunding|crossMaintenanceMarginUsed)|(States?(\[1?\])*|native)\.time`,
    String.raw`\.(origSz|cloid|tid|feeToken)|(?<!SliceFills(ByTime)?\[\])\.twapId`,
  ]
    .map((keys) => `(${keys})$`)
    .join('|'),
)

const SURFACES = [
  ...CATALOGUE.map(({ type, example, response }) => ({
    name: type,
    schema: response(),
    answers: [example.response, ...(MORE_ANSWERS[type] ?? [])],
  })),
  ...CHANNELS.map((channel) => ({
    name: `${channel.type} frame`,
    schema: publishedFrame(channel),
    answers: [...exampleFrames(channel), ...(MORE_FRAMES[channel.type] ?? [])],
  })),
]

it.each(SURFACES.map((surface) => [surface.name, surface] as const))(
  '%s: says of every field what it is, shows it, and notices what does not fit',
  (name, { schema, answers }) => {
    const shown = shownBy(answers)
    const known = knownTo(schema)
    for (const answer of answers) expect(schema.safeParse(answer).error, JSON.stringify(answer)).toBe(undefined)

    expect(known.open.map((path) => name + path)).toEqual(UNTYPED.filter((path) => path.startsWith(`${name}.`)))
    const paths = new Set([...shown.keys()].map((path) => path.replace(/\[\d+\]/g, '[]')))
    expect(known.fields.filter((path) => !paths.has(path))).toEqual([])
    const empty = [...shown].filter(
      ([path, kinds]) =>
        !UNTYPED.includes(name + path) &&
        ([...kinds].every((kind) => kind === 'null' || kind === 'absent') ||
          (kinds.has('list') &&
            !path.endsWith('.children') &&
            ![...shown.keys()].some((one) => one.startsWith(`${path}[`)))),
    )
    expect(empty.map(([path]) => path)).toEqual([])

    const missed = new Set<string>()
    for (const answer of answers.flatMap(parts))
      for (const { at, path, value } of places(answer)) {
        const whole = name + path
        if (
          Array.isArray(value) &&
          isRow(value) &&
          schema.safeParse(changed(answer, [...at, value.length - 1])).success
        )
          missed.add(`${whole}: last element`)
        if (UNTYPED.includes(whole) || OPAQUE.test(path) || TOMORROW.test(path)) continue
        for (const [kind, wrong] of wrongFor(shown.get(path)!))
          if (!(whole === NULL_IN_ROW && kind === 'null') && schema.safeParse(changed(answer, at, wrong)).success)
            missed.add(`${whole}: ${kind}`)
        const isFree = shown.get(path)!.has('absent') || LATER.test(whole) || MAPS.test(whole.replace(/\.[^.]*$/, ''))
        if (!isFree && typeof at.at(-1) === 'string' && schema.safeParse(changed(answer, at)).success)
          missed.add(`${whole}: absent`)
      }
    expect([...missed]).toEqual([])
  },
)
