// Scalars beside those of GraphQL. As results they are what the frame has, to the letter.

import { GraphQLError, GraphQLScalarType } from 'graphql'

export const Decimal = new GraphQLScalarType({
  name: 'Decimal',
  description: 'An exact decimal number, as a string: "81307.0".',
})

export const Json = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any value, as the exchange writes it: what may have fields or kinds that nobody knows yet.',
})

export const SafeInt = new GraphQLScalarType<number, unknown>({
  name: 'SafeInt',
  description: 'A whole number below 2^53, as a JSON number: times in Unix milliseconds, heights, ids.',
  parseValue: (value) => {
    if (Number.isSafeInteger(value)) return value as number
    throw new GraphQLError('must be a whole number')
  },
})
