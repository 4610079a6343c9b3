// The version that requests to a CreditMeter and its answers carry: the two Workers are deployed apart.

export const METER_API_VERSION = 1
