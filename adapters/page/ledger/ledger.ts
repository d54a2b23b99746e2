/* One part, so that opening a panel loads one file. */

export { LedgerSheet } from './ledger-sheet.js'
export { Seal } from './seal.js'
