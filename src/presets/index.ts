export { cloudTrail } from './cloud-trail.js'
export type { Preset, PresetEvent } from './preset.js'
export { presets } from './presets.js'
export { windowsSecurity } from './windows-security.js'
