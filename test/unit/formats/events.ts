import type { AuditEvent, JsonObject } from 'daybook'

export const TRACE_ID = '5b8efff798038103d269b633813fc60c'
export const SPAN_ID = 'eee19b7ec3c1b174'

/** The attributes that `recordRequests` records for a request. */
export const request: JsonObject = {
  request_method: 'POST',
  request_path: '/api/projects',
  request_body: { code: 'shop', limits: [1.5, true, null, 'a', -7] },
  response_status: 201,
  duration_ms: 12.625,
  remote_address: '203.0.113.7',
  request_id: 'r-1',
  trace_id: TRACE_ID,
  span_id: SPAN_ID,
}

export const created: AuditEvent = {
  id: '01a20405-0fa8-7676-ba2c-be23e865d0a6',
  created_at: '2026-11-22T16:09:30.280404Z',
  username: 'ann',
  system: true,
  type: 'api:projects:create',
  source: '/api/projects/shop',
  attributes: { ...request, name: 'Web shop', project_path: '/projects/shop' },
}

export const eventOf = (event: Partial<AuditEvent>): AuditEvent => ({ ...created, ...event })

/** A system event without a request, a user and a source. */
export const background = (type: string, attributes: JsonObject = {}): AuditEvent =>
  eventOf({ type, attributes, username: null, source: null })
