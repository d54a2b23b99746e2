export {
  type AnchorStatus,
  directoryAnchor,
  type LedgerAnchor,
  type ScheduledAnchor,
} from './anchors.js'
export * from './browser.js'
export { generateKey, keyFile, type KeyFileOptions } from './key-file.js'
