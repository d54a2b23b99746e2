import { cloudTrail } from './cloud-trail.js'
import { djangoAuditlog } from './django-auditlog.js'
import { github } from './github.js'
import { kubernetes } from './kubernetes.js'
import { paperTrail } from './paper-trail.js'
import type { Preset } from './preset.js'
import { vault } from './vault.js'
import { windowsSecurity } from './windows-security.js'

/** All presets, by their names in commands. */
export const presets: readonly Preset[] = [
  cloudTrail,
  windowsSecurity,
  kubernetes,
  github,
  vault,
  paperTrail,
  djangoAuditlog,
]
