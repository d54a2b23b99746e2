import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from 'daybook'

const FIXTURES = path.resolve(import.meta.dirname, '../fixtures')

/** The files with records of the real software, by the names of their presets. Where they are from is said beside them. */
const FILES = {
  cloudtrail: 'security-datasets/aws-cloudtrail',
  windows: 'security-datasets/windows-security',
  kubernetes: 'presets/kubernetes',
  papertrail: 'presets/papertrail',
  'django-auditlog': 'presets/django-auditlog',
} as const

export type TriedPreset = keyof typeof FILES

export const TRIED_PRESETS = Object.keys(FILES) as TriedPreset[]

export const fileOf = (preset: TriedPreset): string =>
  path.join(FIXTURES, `${FILES[preset]}.ndjson.gz`)

export function recordsOf(preset: TriedPreset): JsonObject[] {
  const text = gunzipSync(fs.readFileSync(fileOf(preset))).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
}
