import type { AuditEvent, JsonObject } from 'daybook'

const ID = '7c41f0de-52c6-4f0a-9b0e-3d1f5a9c0b7e'

const prod = { project_path: '/projects/acme', node_path: '/projects/acme/environments/prod' }

/* The attributes of the resources that events refer to. */

export const change = { name: 'nightly', change_id: ID, ...prod }
export const step = {
  name: 'Warm cache',
  step_id: ID,
  change_id: ID,
  change_name: 'nightly',
  ...prod,
}
export const workflow = { name: 'Reindex' }
export const run = { name: 'Reindex', workflow_run_id: ID }
export const workflowStep = { name: 'Warm up', workflow_step_id: ID, workflow_run_id: ID }
export const schedule = { name: 'every night', scheduled_change_id: ID, ...prod }
export const scheduledWorkflow = { name: 'every Sunday' }
export const project = { name: 'Acme', project_path: '/projects/acme' }
export const asset = {
  name: 'Web server',
  project_path: '/projects/acme',
  node_path: '/projects/acme/environments/prod/assets/web',
}
export const bookmark = { name: 'Start', bookmark_id: ID }
export const settings = { settings_id: ID, settings_version_id: ID }
export const properties = { properties_id: ID, properties_version_id: ID }
export const template = { name: 'site', template_id: ID }
export const version = { name: 'main', template_version_id: ID, template_id: ID }
export const agent = { name: 'runner-1' }
export const image = { name: 'web:4.18' }
export const remote = { name: 'infra', git_remote_id: ID }
export const filter = { name: 'failures' }
export const subscriber = { name: 'ops' }
export const notification = { name: 'mail to ops' }
export const job = { name: 'clean workspace' }

const SOURCES: Readonly<Record<string, (value: string) => string>> = {
  step_id: (id) => `/api/steps/${id}`,
  workflow_step_id: (id) => `/api/workflow_steps/${id}`,
  change_id: (id) => `/api/changes/${id}`,
  workflow_run_id: (id) => `/api/workflow_runs/${id}`,
  scheduled_change_id: (id) => `/api/scheduled_changes/${id}`,
  properties_version_id: (id) => `/api/properties_versions/${id}`,
  settings_version_id: (id) => `/api/settings_versions/${id}`,
  template_version_id: (id) => `/api/template_versions/${id}`,
  template_id: (id) => `/api/templates/${id}`,
  bookmark_id: (id) => `/api/bookmarks/${id}`,
  git_remote_id: (id) => `/api/git_remotes/${id}`,
  node_path: (path) => `/api${path}`,
  project_path: (path) => `/api${path}`,
}

/** An event as the service would have recorded it. */
export function eventOf(event: Partial<AuditEvent> & { type: string }): AuditEvent {
  const attributes: JsonObject = event.attributes ?? {}
  const link = Object.keys(SOURCES).find((name) => typeof attributes[name] === 'string')
  return {
    id: '01934a7c-2b5c-7e3f-8a4b-5c6d7e8f9a0b',
    created_at: '2026-11-20T13:05:52.418114Z',
    username: null,
    system: true,
    source: link === undefined ? null : SOURCES[link]!(attributes[link] as string),
    ...event,
    attributes,
  }
}
