import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from 'daybook'

const FIXTURES = path.resolve(import.meta.dirname, '../fixtures')

/**
 * The files with records of the real software, by the names of their presets. A note beside each file names its
 * source.
 */
const FILES = {
  cloudtrail: 'security-datasets/aws-cloudtrail',
  windows: 'security-datasets/windows-security',
  kubernetes: 'presets/kubernetes',
  vault: 'presets/vault',
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

/** A record for each untried preset, written by hand after the documentation of its log. */
export const EXAMPLES: Readonly<Record<string, JsonObject>> = {
  github: {
    '@timestamp': 1_764_000_000_123,
    _document_id: 'aCjok7V1YYqP1c9IE6qbkg',
    action: 'org.update_member',
    actor: 'octocat',
    actor_id: 583_231,
    actor_ip: '192.0.2.7',
    actor_location: { country_code: 'DE' },
    created_at: 1_764_000_000_123,
    operation_type: 'modify',
    org: 'octo-org',
    org_id: 6,
    permission: 'admin',
    user: 'hubot',
    user_id: 480_938,
  },
}
