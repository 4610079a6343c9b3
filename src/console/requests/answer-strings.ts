// Text about a response.

export const ANSWER = {
  headers: {
    'x-credits-cost': 'Credits',
    'x-credits-remaining': 'Credits left',
    age: 'Age (s)',
    'x-block-height': 'Block',
    'x-request-id': 'Request ID',
  },
  status: 'Status',
  time: 'Time',
  wrongPath: 'The path must begin with /',
  more: (count: number) => `\n… ${count.toLocaleString('en')} more characters`,
} as const
