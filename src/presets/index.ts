export { cloudTrail } from './cloud-trail.js'
export type { Preset, PresetEvent } from './preset.js'
export { windowsSecurity } from './windows-security.js'
