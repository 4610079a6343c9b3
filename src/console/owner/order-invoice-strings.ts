// Text of invoices of orders, of the list of orders and of billing details.

export const INVOICE = {
  title: (number: string) => `Invoice ${number}`,
  number: 'Invoice number',
  issued: 'Issue date',
  due: 'Due date',
  account: 'Account',
  from: 'From',
  to: 'Bill to',
  taxId: (id: string) => `Tax ID: ${id}`,
  noBuyer: 'No billing details at the time of the order',
  lines: 'Invoice lines',
  description: 'Description',
  quantity: 'Quantity',
  unitPrice: (currency: string) => `Unit price (${currency})`,
  net: (currency: string) => `Net (${currency})`,
  netTotal: 'Net total',
  tax: (name: string, rate: string) => `${name} ${rate}%`,
  total: 'Total',
  paid: 'Paid',
  amountDue: 'Amount due',
  payment: 'Payment',
  method: 'Method',
  reference: 'Payment reference',
  network: 'Network',
  paidOn: 'Paid on',
  correction: 'Correction',
  correctionText: (date: string | null) => (date === null ? 'Refund' : `Refund, last on ${date}`),
  print: 'Print or save as PDF',
  back: 'Back to billing',
  open: 'View invoice',
  states: { open: 'Due', paid: 'Paid', failed: 'Payment failed', void: 'Void' },
  methods: { manual: 'Manual', stripe: 'Stripe', x402: 'x402' },
  refunded: 'Refunded',
  partlyRefunded: 'Partly refunded',
} as const

export const PAYMENTS = {
  title: 'Orders and invoices',
  table: 'Orders and invoices',
  empty: 'No orders yet.',
  date: 'Date (UTC)',
  reference: 'Reference',
  currency: 'Currency',
  invoice: 'Invoice',
} as const

export const DETAILS = {
  title: 'Billing details',
  none: 'No billing details yet. Add them before you order: they appear on invoices of later orders.',
  hint: 'These details appear on invoices of later orders. Earlier invoices do not change.',
  edit: 'Edit billing details',
  name: 'Company or name',
  address: 'Address',
  addressHint: 'One line each, at most 6, without the country',
  country: 'Country',
  chooseCountry: 'Choose a country',
  taxId: 'Tax or VAT ID',
  email: 'E-mail for invoices',
  optional: 'optional',
  save: 'Save',
} as const

export const TAX = {
  included: (name: string, rate: string) => `Prices include ${rate}% ${name}.`,
  added: (name: string, rate: string) => `${rate}% ${name} is added to these prices.`,
} as const
