import { randomUUID } from 'node:crypto'
import { text } from '../attributes.js'
import { checkRemote, fetchVersion } from '../git/fetch.js'
import type { Git } from '../git/git.js'
import type { TemplateVersion } from '../model.js'
import { invalid, Problem } from '../problem.js'
import type { Service } from '../service.js'
import { listOf } from './lists.js'
import { describe, deferIn, param, readNew, usernameOf } from './request.js'
import { sendCreated, sendOne } from './respond.js'
import { get, post, type Route } from './route.js'
import { findOne, simpleRoutes } from './simple.js'

/** Only repositories on this machine. */
const LOCAL = /^(file:\/\/)?\/[^\0]*$/
/** Must not look like an option of git. */
const REVISION = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/

function requireGit({ git }: Service): Git {
  if (!git) throw new Problem(503, 'GIT_MISSING', 'git is not installed')
  return git
}

export function templateRoutes(service: Service): Route[] {
  const { documents, note } = service
  const collection = '/api/templates/:template_id/template_versions'

  return [
    ...simpleRoutes(service, {
      kind: 'git_remotes',
      type: 'git_remote',
      link: 'git_remote_id',
      readers: {
        name: text(),
        url: text({ pattern: LOCAL, expected: 'a local path or a file:// URL' }),
      },
      removable: true,
      check: () => requireGit(service),
      afterwards: (ctx, remote, occasion) => {
        const git = requireGit(service)
        const username = usernameOf(ctx)
        deferIn(ctx)(() => checkRemote(service, git, remote, { occasion, username }))
      },
    }),

    ...simpleRoutes(service, {
      kind: 'templates',
      type: 'template',
      link: 'template_id',
      readers: { name: text(), description: text({ fallback: '' }) },
      removable: false,
    }),

    get(
      collection,
      listOf('template_versions', (ctx) => {
        const { id } = findOne(service, 'templates', param(ctx, 'template_id'))
        return documents.all('template_versions').filter(({ template_id }) => template_id === id)
      }),
    ),

    post(collection, async (ctx) => {
      const git = requireGit(service)
      const username = usernameOf(ctx)
      const template = findOne(service, 'templates', param(ctx, 'template_id'))
      const readers = {
        git_remote_id: text(),
        revision: text({ pattern: REVISION, expected: 'a branch, tag or commit' }),
      }
      const attributes = readNew(ctx, 'template_version', readers)
      if (!documents.get('git_remotes', attributes.git_remote_id))
        throw invalid('the Git remote does not exist', '/data/attributes/git_remote_id')
      const version: TemplateVersion = {
        id: randomUUID(),
        template_id: template.id,
        ...attributes,
        status: 'fetching',
        commit_sha: null,
        actions: [],
        requires: [],
        reads_model: false,
        follows: false,
        float_error: null,
        refresh_id: null,
        owner: documents.processId,
      }
      await documents.write((tx) => tx.put('template_versions', version))
      const links = { template_version_id: version.id, template_id: template.id }
      const facts = { name: version.revision, ...links, git_remote_id: version.git_remote_id }
      describe(ctx, facts)
      await note('info:template_version:fetch_initialize', facts, username)
      deferIn(ctx)(() => fetchVersion(service, git, version, username))
      sendCreated(ctx, 'template_versions', version)
    }),

    get('/api/template_versions/:template_version_id', (ctx) => {
      const id = param(ctx, 'template_version_id')
      sendOne(ctx, 'template_versions', findOne(service, 'template_versions', id))
    }),
  ]
}
