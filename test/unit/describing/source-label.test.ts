import { type JsonObject, sourceLabel } from 'daybook'
import { describe, expect, it } from 'vitest'
import { asset, change, eventOf, project, remote, settings, step } from './examples.js'

describe('sourceLabel', () => {
  it.each<[string, JsonObject, string, string]>([
    ['api:changes:create', change, 'change', 'nightly'],
    ['audit:steps:approve', step, 'step', 'Warm cache'],
    ['warn:approval_identity_unresolved', step, 'step', 'Warm cache'],
    ['error:git_remote:fetch', remote, 'git remote', 'infra'],
    ['api:nodes:update', asset, 'asset', 'Web server'],
    ['api:projects:create', project, 'project', 'Acme'],
    ['api:projects:create', { project_path: '/projects/acme' }, 'project', 'acme'],
    ['api:nodes:create', { node_path: '/projects/a/environments/b' }, 'environment', 'a/b'],
    ['info:maintenance_mode:enabled', settings, 'settings version', '…9c0b7e'],
    ['info:email:sent', { change_id: change.change_id }, 'change', '…9c0b7e'],
  ])('%s of %j', (type, attributes, kind, name) => {
    expect(sourceLabel(eventOf({ type, attributes }))).toEqual({ kind, name })
  })

  it('does not use the name of a custom event as the name of its source', () => {
    const event = eventOf({ type: 'note', attributes: { ...project, name: 'hi' }, system: false })
    expect(sourceLabel(event)).toEqual({ kind: 'project', name: 'acme' })
  })

  it.each([
    ['/orders/4711', 'order', '4711'],
    ['/x', 'thing', 'x'],
    ['/', 'thing', 'thing'],
    ['/api/changes/a\u202E\nb', 'change', 'aU+202E b'],
  ])('takes any path: %j', (source, kind, name) => {
    expect(sourceLabel(eventOf({ type: 'api:a:b', source }))).toEqual({ kind, name })
  })

  it('is undefined without a source', () => {
    expect(sourceLabel(eventOf({ type: 'api:a:b' }))).toBeUndefined()
  })
})
