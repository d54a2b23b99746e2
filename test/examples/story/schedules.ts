import { commitFile, createRepository } from './repositories.js'
import { PROD, type Story } from './world.js'

const now = (): string => new Date().toISOString()

export const schedules: Story = async ({ post, del, saw, temp }) => {
  const schedule = (name: string, attributes: object) =>
    post('/api/scheduled_changes', 'scheduled_change', {
      name,
      run_at: now(),
      change: { name, node_path: PROD, steps: [] },
      ...attributes,
    })
  const steps = [{ action: 'wait', ms: 5 }]
  const { id } = await schedule('once', { change: { name: 'planned', node_path: PROD, steps } })
  await saw('api:scheduled_changes:change_creation:success', { scheduled_change_id: id })
  await saw('api:changes:success', { name: 'planned' })
  await del(`/api/scheduled_changes/${id}`)
  const gone = { name: 'gone', node_path: '/projects/none/environments/none', steps: [] }
  await schedule('gone', { change: gone })
  await saw('error:scheduled_changes:change_creation', { name: 'gone' })

  const workflow = await post('/api/workflows', 'workflow', {
    name: 'slow',
    steps: [{ action: 'wait', ms: 60_000 }],
  })
  const weekly = await post('/api/scheduled_workflows', 'scheduled_workflow', {
    name: 'often',
    run_at: now(),
    every_seconds: 1,
    workflow_id: workflow.id,
  })
  await saw('api:scheduled_workflows:workflow_run_creation:success', { name: 'often' })
  await post('/api/scheduled_workflows', 'scheduled_workflow', {
    name: 'lost',
    run_at: now(),
    workflow_id: 'none',
  })
  await saw('error:scheduled_workflows:workflow_run_creation', { name: 'lost' })

  const url = temp.file('scheduled.git')
  await createRepository(url)
  await commitFile(url, 'src/index.ts', 'first')
  const remote = await post('/api/git_remotes', 'git_remote', { name: 'scheduled', url })
  const at = { git_remote_id: remote.id }
  await schedule('lost branch', { ...at, revision: 'lost' })
  await saw('error:scheduled_changes:git_sha', { name: 'lost branch' })
  await schedule('docs', { ...at, revision: 'main', commit_file_patterns: ['docs/**'] })
  await saw('warning:scheduled_changes:commit_file_patterns', { name: 'docs' })
  await schedule('sources', { ...at, revision: 'main', commit_file_patterns: ['src/*.ts'] })
  await saw('api:scheduled_changes:change_creation:success', { name: 'sources' })
  await del(`/api/git_remotes/${remote.id}`)

  // The first run is still waiting.
  await saw('warning:scheduled_activity:skipped', { name: 'often' })
  await del(`/api/scheduled_workflows/${weekly.id}`)
}
