import { expect } from 'vitest'
import type { Story } from './world.js'

export const authorisation: Story = async ({ post, patch, del, refused }) => {
  const policy = await post('/api/authorisation_policies', 'authorisation_policy', { name: 'read' })
  const policies = `/api/authorisation_policies/${policy.id}`
  await patch(policies, 'authorisation_policy', { name: 'bookmarks' })
  const rule = await post('/api/authorisation_rules', 'authorisation_rule', {
    name: 'add bookmarks',
    method: 'POST',
    path: '/api/bookmark',
  })
  const rules = `/api/authorisation_rules/${rule.id}`
  await patch(rules, 'authorisation_rule', { path: '/api/bookmarks' })

  const bookmark = { name: 'Home', path: '/' }
  await refused(403, 'POST /api/bookmarks bookmark', bookmark, 'eve')
  const granted = { policy_id: policy.id, rule_id: rule.id }
  const policyRule = await post('/api/policy_rules', 'policy_rule', granted)
  const assigned = { policy_id: policy.id, assignee_type: 'user', assignee: 'eve' }
  const assignment = await post('/api/policy_assignments', 'policy_assignment', assigned)
  await post('/api/bookmarks', 'bookmark', bookmark, 'eve')

  await del(`/api/policy_assignments/${assignment.id}`)
  await refused(403, 'POST /api/bookmarks bookmark', bookmark, 'eve')
  await del(`/api/policy_rules/${policyRule.id}`)
  await del(rules)
  await del(policies)
}

export const secrets: Story = async ({ post, set, saw }) => {
  const given = { name: 'database', secret: 'swordfish-4711' }
  const { id } = await post('/api/secrets', 'secret', given)
  const event = await saw('api:secrets:encrypt', { name: 'database' })
  expect(JSON.stringify(event)).not.toContain('swordfish')
  await set({ secret_vault_algorithm: 'rot13' })
  await saw('error:secret_vault_pod_roll:failure')
  const resolved = await post(`/api/secrets/${id}/resolve`)
  expect(resolved.attributes['secret']).toBe(given.secret)
  await set({ secret_vault_algorithm: 'chacha20-poly1305' })
  await saw('info:secret_vault_pod_roll:summary')
}

export const sites: Story = async ({ post, set, saw, refused }) => {
  await saw('info:database_cluster:registered', { cluster_name: 'main' })
  await set({ database_cluster_role: 'replica' })
  await saw('info:database_cluster:role_changed', { cluster_name: 'main' })
  await post('/api/sites/main/cordon', 'site', { reason: 'new disks' })
  const change = await post('/api/changes', 'change', { name: 'wait', steps: [] })
  await refused(409, `POST /api/changes/${change.id}/start`)
  await post('/api/sites/main/uncordon')
  await saw('info:site:cordoned', { cordoned_by: 'ann', cordon_reason: 'new disks' })
  await saw('info:site:uncordoned')
  await post(`/api/changes/${change.id}/start`)
}

export const slots: Story = async ({ post, startChange, set, saw }) => {
  const use = (ms: number) => [{ action: 'use_slot', pool: 'gpu', ms }]
  const first = await startChange('first', use(60_000))
  await saw('api:steps:start', { change_id: first.id })
  const second = await startChange('second', use(0))
  await saw('warn:resource_slot_pool:full', { pool: 'gpu', cluster: 'main' })
  await set({ resource_slots_gpu: 'many' })
  await post(`/api/changes/${first.id}/cancel`)
  await saw('api:resource_slot_freed_listener:error', { pool: 'gpu' })
  await saw('api:changes:success', { change_id: second.id })
  await set({ resource_slots_gpu: 1 })
}

export const logs: Story = async ({ startChange, set, saw }) => {
  // Nothing listens at this port.
  await set({ log_forwarder_url: 'http://127.0.0.1:9/' })
  const change = await startChange('logged', [{ action: 'wait', ms: 1 }])
  await saw('error:logforwarder:log_failure', { change_id: change.id })
  await set({ log_forwarder_url: '' })
}
