import type { LinkTable } from '../event/links.js'

const PROJECT = '/projects/{code}'
const ENVIRONMENT = `${PROJECT}/environments/{code}` as const
const ASSET = `${ENVIRONMENT}/assets/{code}` as const

/**
 * The link attributes of the workflow service, for the option `links`. The source of an event is its most specific
 * resource. Ranks are multiples of 10, so that you can insert further rows.
 */
export const workflowLinks = [
  { attribute: 'step_id', kind: 'uuid', path: '/api/steps/{step_id}', rank: 10 },
  {
    attribute: 'workflow_step_id',
    kind: 'uuid',
    path: '/api/workflow_steps/{workflow_step_id}',
    rank: 20,
  },
  { attribute: 'change_id', kind: 'uuid', path: '/api/changes/{change_id}', rank: 30 },
  {
    attribute: 'workflow_run_id',
    kind: 'uuid',
    path: '/api/workflow_runs/{workflow_run_id}',
    rank: 40,
  },
  {
    attribute: 'scheduled_change_id',
    kind: 'uuid',
    path: '/api/scheduled_changes/{scheduled_change_id}',
    rank: 50,
  },
  {
    attribute: 'properties_version_id',
    kind: 'uuid',
    path: '/api/properties_versions/{properties_version_id}',
    rank: 60,
  },
  {
    attribute: 'settings_version_id',
    kind: 'uuid',
    path: '/api/settings_versions/{settings_version_id}',
    rank: 70,
  },
  {
    attribute: 'template_version_id',
    kind: 'uuid',
    path: '/api/template_versions/{template_version_id}',
    rank: 80,
  },
  { attribute: 'properties_id', kind: 'uuid', path: '/api/properties/{properties_id}', rank: 90 },
  { attribute: 'settings_id', kind: 'uuid', path: '/api/settings/{settings_id}', rank: 100 },
  { attribute: 'template_id', kind: 'uuid', path: '/api/templates/{template_id}', rank: 110 },
  { attribute: 'bookmark_id', kind: 'uuid', path: '/api/bookmarks/{bookmark_id}', rank: 120 },
  { attribute: 'git_remote_id', kind: 'uuid', path: '/api/git_remotes/{git_remote_id}', rank: 130 },
  { attribute: 'node_id', kind: 'uuid', path: '/api/nodes/{node_id}', rank: 140 },
  {
    attribute: 'node_path',
    kind: [PROJECT, ENVIRONMENT, ASSET],
    path: '/api{node_path}',
    rank: 150,
  },
  { attribute: 'project_path', kind: PROJECT, path: '/api{project_path}', rank: 160 },
  { attribute: 'project_id', kind: 'uuid', path: '/api/projects/{project_id}', rank: 170 },
] as const satisfies LinkTable
