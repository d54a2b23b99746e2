/*
 * The German sentences of the catalogue, one for each type. `event-types.ts` does not compile if a sentence is
 * missing.
 */
export const germanSentences = {
  'api:changes:create':
    'hat {@thing}[ im Projekt {@project:name}] angelegt | {@thing}[ im Projekt {@project:name}] angelegt',
  'api:changes:start': 'hat {@thing} gestartet | {@thing} gestartet',
  'api:changes:success': 'hat {@thing} ausgeführt und abgeschlossen | {@thing} abgeschlossen',
  'api:changes:error':
    'hat {@thing} ausgeführt, ohne Erfolg[: {@reason}] | {@thing} fehlgeschlagen[: {@reason}]',
  'api:changes:cancel':
    'hat {@thing} abgebrochen[: “{message}”|: “{request_body_message}”] | {@thing} abgebrochen[: “{message}”|: “{request_body_message}”]',
  'api:changes:abort':
    'hat {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”] | {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”]',
  'audit:changes:pause':
    'hat {@thing} angehalten[: “{message}”|: “{request_body_message}”] | {@thing} angehalten[: “{message}”|: “{request_body_message}”]',
  'audit:changes:resume':
    'hat {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”] | {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”]',
  'api:changes:retry_settings_pruned':
    'hat {@thing} ohne ungültig gewordene Überschreibungen wiederholt[: {dropped_settings}] | {@thing} ohne ungültig gewordene Überschreibungen wiederholt[: {dropped_settings}]',
  'warn:changes:catalog_not_refreshed':
    'hat {@thing} mit den ursprünglichen Aktionen wiederholt[, da die von **{template_version}** nicht verfügbar waren] | {@thing} mit den ursprünglichen Aktionen wiederholt[, da die von **{template_version}** nicht verfügbar waren]',
  'api:changes:destroy':
    'hat {@thing}[ im Projekt {@project:name}] gelöscht | {@thing}[ im Projekt {@project:name}] gelöscht',
  'api:change_listener:error': '| Überwachung abgebrochener Änderungen fehlgeschlagen[: {@reason}]',
  'error:change_worker:delete':
    '| Runner-Pod [der Änderung {@change:name}|einer Änderung] konnte nicht entfernt werden[: {@reason}]',
  'api:steps:start': 'hat {@thing} gestartet | {@thing} gestartet',
  'api:steps:approve':
    'hat {@thing} genehmigt[: “{message}”|: “{request_body_message}”] | {@thing} genehmigt[: “{message}”|: “{request_body_message}”]',
  'api:steps:reject':
    'hat {@thing} abgelehnt[: “{message}”|: “{request_body_message}”] | {@thing} abgelehnt[: “{message}”|: “{request_body_message}”]',
  'api:steps:continue':
    'hat {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”] | {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”]',
  'api:steps:success': 'hat {@thing} ausgeführt und abgeschlossen | {@thing} abgeschlossen',
  'api:steps:error': '| {@thing} konnte den Status nicht wechseln[: {@reason}]',
  'api:steps:cancel':
    'hat {@thing} abgebrochen[: “{message}”|: “{request_body_message}”] | {@thing} abgebrochen[: “{message}”|: “{request_body_message}”]',
  'api:steps:abort':
    'hat {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”] | {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”]',
  'error:step:action':
    'hat {@thing} ausgeführt, ohne Erfolg[: {@reason}] | {@thing} fehlgeschlagen[: {@reason}]',
  'error:step:processing': '| {@thing} konnte nicht verarbeitet werden[: {@reason}]',
  'error:step:fsm_failure': '| {@thing} konnte den Status nicht wechseln[: {@reason}]',
  'error:steps:transient_error':
    '| {@thing} durch einen vorübergehenden Datenbankfehler verzögert[: {@reason}]',
  'api:assign_system_error_job:error':
    '| Job, der Schritten den Status system_error gibt, fehlgeschlagen[: {@reason}]',
  'audit:steps:approve':
    'hat {@thing} genehmigt[: “{message}”|: “{request_body_message}”] | {@thing} genehmigt[: “{message}”|: “{request_body_message}”]',
  'audit:steps:reject':
    'hat {@thing} abgelehnt[: “{message}”|: “{request_body_message}”] | {@thing} abgelehnt[: “{message}”|: “{request_body_message}”]',
  'audit:steps:continue':
    'hat {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”] | {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”]',
  'audit:steps:approve:denied':
    'durfte {@thing} nicht genehmigen | {@thing} nicht genehmigt: keine Berechtigung',
  'audit:steps:reject:denied':
    'durfte {@thing} nicht ablehnen | {@thing} nicht abgelehnt: keine Berechtigung',
  'audit:steps:continue:denied':
    'durfte {@thing} nicht fortsetzen | {@thing} nicht fortgesetzt: keine Berechtigung',
  'audit:workflow_steps:approve':
    'hat {@thing} genehmigt[: “{message}”|: “{request_body_message}”] | {@thing} genehmigt[: “{message}”|: “{request_body_message}”]',
  'audit:workflow_steps:reject':
    'hat {@thing} abgelehnt[: “{message}”|: “{request_body_message}”] | {@thing} abgelehnt[: “{message}”|: “{request_body_message}”]',
  'audit:workflow_steps:continue':
    'hat {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”] | {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”]',
  'audit:workflow_steps:approve:denied':
    'durfte {@thing} nicht genehmigen | {@thing} nicht genehmigt: keine Berechtigung',
  'audit:workflow_steps:reject:denied':
    'durfte {@thing} nicht ablehnen | {@thing} nicht abgelehnt: keine Berechtigung',
  'audit:workflow_steps:continue:denied':
    'durfte {@thing} nicht fortsetzen | {@thing} nicht fortgesetzt: keine Berechtigung',
  'warn:approval_identity_unresolved':
    '| [Genehmigende Person oder Gruppe **{approver}**[ für Schritt {@step:name}]|Genehmigende Personen oder Gruppen **{approvers}**[ für Schritt {@step:name}]|Genehmigende Person oder Gruppe[ für Schritt {@step:name}]] nicht bekannt',
  'warn:approval_identity_validation_skipped':
    '| Namen der Genehmigenden[ für Schritt {@step:name}] nicht geprüft, da das LDAP-Verzeichnis nicht erreichbar war[: {@reason}]',
  'api:workflows:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:workflows:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:workflow_runs:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:workflow_runs:start': 'hat {@thing} gestartet | {@thing} gestartet',
  'api:workflow_runs:success': 'hat {@thing} ausgeführt und abgeschlossen | {@thing} abgeschlossen',
  'api:workflow_runs:error':
    'hat {@thing} ausgeführt, ohne Erfolg[: {@reason}] | {@thing} fehlgeschlagen[: {@reason}]',
  'api:workflow_runs:cancel':
    'hat {@thing} abgebrochen[: “{message}”|: “{request_body_message}”] | {@thing} abgebrochen[: “{message}”|: “{request_body_message}”]',
  'api:workflow_runs:abort':
    'hat {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”] | {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”]',
  'audit:workflow_runs:pause':
    'hat {@thing} angehalten[: “{message}”|: “{request_body_message}”] | {@thing} angehalten[: “{message}”|: “{request_body_message}”]',
  'audit:workflow_runs:resume':
    'hat {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”] | {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”]',
  'api:workflow_runs:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:workflow_steps:start': 'hat {@thing} gestartet | {@thing} gestartet',
  'api:workflow_steps:approve':
    'hat {@thing} genehmigt[: “{message}”|: “{request_body_message}”] | {@thing} genehmigt[: “{message}”|: “{request_body_message}”]',
  'api:workflow_steps:reject':
    'hat {@thing} abgelehnt[: “{message}”|: “{request_body_message}”] | {@thing} abgelehnt[: “{message}”|: “{request_body_message}”]',
  'api:workflow_steps:continue':
    'hat {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”] | {@thing} fortgesetzt[: “{message}”|: “{request_body_message}”]',
  'api:workflow_steps:success':
    'hat {@thing} ausgeführt und abgeschlossen | {@thing} abgeschlossen',
  'api:workflow_steps:error':
    'hat {@thing} ausgeführt, ohne Erfolg[: {@reason}] | {@thing} fehlgeschlagen[: {@reason}]',
  'api:workflow_steps:cancel':
    'hat {@thing} abgebrochen[: “{message}”|: “{request_body_message}”] | {@thing} abgebrochen[: “{message}”|: “{request_body_message}”]',
  'api:workflow_steps:abort':
    'hat {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”] | {@thing} vorzeitig beendet[: “{message}”|: “{request_body_message}”]',
  'error:workflow_step:fsm_failure': '| {@thing} konnte den Status nicht wechseln[: {@reason}]',
  'error:workflow_step:run_failure':
    'hat {@thing} ausgeführt, ohne Erfolg[: {@reason}] | {@thing} fehlgeschlagen[: {@reason}]',
  'api:scheduled_changes:create':
    'hat {@thing}[ im Projekt {@project:name}] angelegt | {@thing}[ im Projekt {@project:name}] angelegt',
  'api:scheduled_changes:destroy':
    'hat {@thing}[ im Projekt {@project:name}] gelöscht | {@thing}[ im Projekt {@project:name}] gelöscht',
  'api:scheduled_workflows:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:scheduled_workflows:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:scheduled_changes:change_creation:create': '| {@thing} ist fällig',
  'api:scheduled_changes:change_creation:success':
    '| [{@change}|Änderung] nach Zeitplan[ **{name}**] angelegt',
  'api:scheduled_workflows:workflow_run_creation:create': '| {@thing} ist fällig',
  'api:scheduled_workflows:workflow_run_creation:success':
    '| [{@workflow_run}|Workflow-Lauf] nach Zeitplan[ **{name}**] angelegt',
  'error:scheduled_changes:change_creation':
    '| {@thing} konnte keine Änderung anlegen[: {@reason}]',
  'error:scheduled_changes:git_sha':
    '| {@thing} hat keine Änderung angelegt, da die Git-Revision nicht gefunden wurde[: {@reason}]',
  'error:scheduled_workflows:workflow_run_creation':
    '| {@thing} konnte keinen Workflow-Lauf anlegen[: {@reason}]',
  'warning:scheduled_activity:skipped':
    '| [{@scheduled_change}|{@scheduled_workflow}|Geplante Aktivität] übersprungen, da die vorige noch läuft',
  'warning:scheduled_changes:commit_file_patterns':
    '| Dateimuster für Commits[ der geplanten Änderung {@thing:name}] konnten nicht ausgewertet werden oder passten nie[: {@reason}]',
  'api:projects:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:projects:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:projects:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:nodes:create':
    'hat {@thing}[ im Projekt {@project:name}] angelegt | {@thing}[ im Projekt {@project:name}] angelegt',
  'api:nodes:update':
    'hat {@thing}[ im Projekt {@project:name}] geändert[ ({@changes})][: {@fields}] | {@thing}[ im Projekt {@project:name}] geändert[ ({@changes})][: {@fields}]',
  'api:nodes:destroy':
    'hat {@thing}[ im Projekt {@project:name}] gelöscht | {@thing}[ im Projekt {@project:name}] gelöscht',
  'api:bookmarks:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:bookmarks:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:bookmarks:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:properties:update':
    'hat {@thing}[ im Projekt {@project:name}] geändert[ ({@changes})][: {@fields}] | {@thing}[ im Projekt {@project:name}] geändert[ ({@changes})][: {@fields}]',
  'api:settings:update':
    'hat {@thing}[ im Projekt {@project:name}] geändert[ ({@changes})][: {@fields}] | {@thing}[ im Projekt {@project:name}] geändert[ ({@changes})][: {@fields}]',
  'info:maintenance_mode:enabled':
    'hat den Wartungsmodus eingeschaltet | Wartungsmodus eingeschaltet',
  'info:maintenance_mode:disabled':
    'hat den Wartungsmodus ausgeschaltet | Wartungsmodus ausgeschaltet',
  'warn:settings:override':
    '| Einstellung[ **{name}**| **{setting}**] durch [die Umgebungsvariable **{variable}**|eine Umgebungsvariable] überschrieben',
  'api:templates:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:templates:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:template_versions:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:action_refresh:warn':
    '| Aktionen[ von {@node}| eines Assets] konnten nicht aktualisiert werden, die bisherigen gelten weiter[: {@reason}]',
  'info:template_version:fetch_initialize':
    'hat den ersten Abruf [der Vorlagenversion {@thing:name}|einer Vorlagenversion] eingereiht | Vorlagenversion[ {@thing:name}] zum ersten Abruf eingereiht',
  'info:template_version:fetch':
    '[ruft {@thing} ab, {@progress}|hat den Abruf [der Vorlagenversion {@thing:name}|einer Vorlagenversion] gestartet] | [{@thing} wird abgerufen, {@progress}|Abruf [der Vorlagenversion {@thing:name}|einer Vorlagenversion] gestartet]',
  'info:template_version:fetch_complete':
    '[{success=true}hat {@thing} abgerufen|{success=false}konnte {@thing} nicht abrufen|hat den Abruf [der Vorlagenversion {@thing:name}|einer Vorlagenversion] beendet] | [{success=true}{@thing} abgerufen|{success=false}{@thing} konnte nicht abgerufen werden|Abruf [der Vorlagenversion {@thing:name}|einer Vorlagenversion] beendet]',
  'info:template_version:refresh_cancelled':
    'hat die Aktualisierung [der Vorlagenversion {@thing:name}|einer Vorlagenversion] abgebrochen | Aktualisierung [der Vorlagenversion {@thing:name}|einer Vorlagenversion] abgebrochen',
  'info:template_version:refresh_superseded':
    '| Aktualisierung [der Vorlagenversion {@thing:name}|einer Vorlagenversion] durch eine neuere ersetzt oder abgebrochen',
  'warn:template_version:float_refresh_failed':
    '| {@thing} konnte der Git-Revision nicht folgen und behält den Commit[: {@reason}]',
  'error:template_version:fetch':
    'konnte {@thing} nicht abrufen[: {@reason}] | {@thing} konnte nicht abgerufen werden[: {@reason}]',
  'error:template_version:commit_verification':
    '| Git-Remote und Revision [der Vorlagenversion {@thing:name}|einer Vorlagenversion] konnten nicht geprüft werden[: {@reason}]',
  'error:template_version:broken':
    'hat {@thing} als fehlerhaft markiert[: {@reason}] | {@thing} als fehlerhaft markiert[: {@reason}]',
  'error:template_version:build_agent_image':
    '| Agent-Image [der Vorlagenversion {@thing:name}|einer Vorlagenversion] konnte nicht erstellt werden[: {@reason}]',
  'error:template_version:refresh_actions':
    '| Aktionen [der Vorlagenversion {@thing:name}|einer Vorlagenversion] konnten nicht aktualisiert werden[: {@reason}]',
  'error:template_version:refresh_cancelled':
    'konnte die Aktualisierung [der Vorlagenversion {@thing:name}|einer Vorlagenversion] nicht abbrechen[: {@reason}] | Aktualisierung [der Vorlagenversion {@thing:name}|einer Vorlagenversion] konnte nicht abgebrochen werden[: {@reason}]',
  'api:generate_actions_request:create':
    'hat die Aktionen[ von {@node}| eines Assets] angefordert[, ausgelöst durch {trigger}] | Aktionen[ von {@node}| eines Assets] angefordert[, ausgelöst durch {trigger}]',
  'error:generate_actions_request:generate':
    '| Aktionen[ von {@node}| eines Assets] konnten nicht erzeugt werden[: {@reason}]',
  'error:assetmodel:generate':
    '| Modell[ von {@node}| eines Assets] konnte nicht erzeugt werden[: {@reason}]',
  'error:assetmodel:derive_actions':
    '| Aktionen[ von {@node}| eines Assets] konnten nicht aus dem Modell abgeleitet werden[: {@reason}]',
  'error:assetmodel:actions_cache_not_persisted':
    '| Erzeugte Aktionen[ von {@node}| eines Assets] konnten nicht zwischengespeichert werden[: {@reason}]',
  'error:asset_model_concretise_task:concretise':
    '| Modell[ von {@node}| eines Assets] konnte nicht konkretisiert werden[: {@reason}]',
  'warn:assetmodel:actions_unavailable':
    '| Modellaktionen[ von {@node}| eines Assets] konnten nicht ermittelt werden, das Modell wurde ohne sie erzeugt[: {@reason}]',
  'api:agent:start':
    'hat den Start [des Agenten {@thing:name}|eines Agenten] angefordert | Start [des Agenten {@thing:name}|eines Agenten] angefordert',
  'api:agent:started': '| {@thing} läuft',
  'api:agent:stop':
    'hat das Stoppen [des Agenten {@thing:name}|eines Agenten] angefordert | Stoppen [des Agenten {@thing:name}|eines Agenten] angefordert',
  'api:agent:stopped': '| {@thing} gestoppt',
  'error:agent:start':
    'konnte {@thing} nicht starten[: {@reason}] | {@thing} konnte nicht gestartet werden[: {@reason}]',
  'error:agent:stop':
    'konnte {@thing} nicht stoppen[: {@reason}] | {@thing} konnte nicht gestoppt werden[: {@reason}]',
  'warn:agent:image_missing': '| {@thing} wartet auf das Image, das gerade erstellt wird',
  'error:build_agent_image_task:build':
    '| Image [des Agenten **{name}**|des Agenten {@agent:name}|eines Agenten] konnte nicht erstellt werden[: {@reason}]',
  'info:image_build:queued':
    '| {@thing}[ hinter **{queued_behind:count}** {queued_behind:anderen/anderen}] eingereiht',
  'info:image_build:started': 'hat {@thing} gestartet | {@thing} gestartet',
  'info:image_build:completed':
    'hat {@thing} ausgeführt und abgeschlossen | {@thing} abgeschlossen',
  'info:image_build:failed': '| {@thing} fehlgeschlagen[: {@reason}]',
  'warn:image_build:content_key_error':
    '| Image[ **{name}**] neu erstellt, da es nicht mit vorhandenen verglichen werden konnte[: {@reason}]',
  'warn:image_build:required_check_error':
    '| Image[ **{name}**] vorsorglich erstellt, da der Bedarf nicht ermittelt werden konnte[: {@reason}]',
  'info:runner_base_image_warm:completed':
    '| Basis-Image der Runner in den Build-Cache geladen[, in {duration_seconds} s]',
  'warn:runner_base_image_warm:failed':
    '| Basis-Image der Runner konnte nicht in den Build-Cache geladen werden[: {@reason}]',
  'info:registry_reconcile:summary':
    '| [**{removed_count}** {removed_count:unbenutztes Image/unbenutzte Images} aus der Image-Registry entfernt|Image-Registry abgeglichen]',
  'error:registry_reconcile:failure':
    '| Image-Registry konnte nicht abgeglichen werden[: {@reason}]',
  'api:git_remotes:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:git_remotes:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:git_remotes:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:git_remote_pushes:create':
    'hat [**{branch}**|Commits][ in **{git_remote_name}**| in {@git_remote:name}][ von **{expected_sha:sha}**][ auf **{pushed_sha:sha}**] gepusht[, {bundle_bytes:bytes}] | [**{branch}**|Commits][ in **{git_remote_name}**| in {@git_remote:name}][ von **{expected_sha:sha}**][ auf **{pushed_sha:sha}**] gepusht[, {bundle_bytes:bytes}]',
  'error:git_remote:create':
    'hat {@thing} angelegt, das nicht erreichbar war[: {@reason}] | {@thing} angelegt, aber nicht erreichbar[: {@reason}]',
  'error:git_remote:update':
    'hat {@thing} geändert, das nicht erreichbar war[: {@reason}] | {@thing} geändert, aber nicht erreichbar[: {@reason}]',
  'error:git_remote:fetch':
    'konnte {@thing} nicht abrufen[: {@reason}] | {@thing} konnte nicht abgerufen werden[: {@reason}]',
  'warn:git_remote:mountable_fetch_failed':
    '| {@thing} konnte nicht für einen Runner-Pod aktualisiert werden; dessen Kopie kann veraltet sein oder fehlen[: {@reason}]',
  'warn:git_remote:push_refresh_failed':
    '| {@thing} konnte nach einem Push nicht aktualisiert werden[: {@reason}]',
  'warn:git_remote:periodic_fetch:failed': '| {@thing} konnte nicht abgerufen werden[: {@reason}]',
  'info:git_remote:periodic_fetch:recovered': '| {@thing} wieder abgerufen[: {@reason}]',
  'info:git_remote:periodic_fetch:summary':
    '| [**{fetched_count:count}**[ von {total_count:count}] Git-Remotes abgerufen[, {failing_count:count} fehlgeschlagen]|Git-Remotes abgerufen]',
  'api:secrets:encrypt':
    'hat [das Secret **{path}**|das Secret **{name}**|ein Secret] gespeichert | Secret[ **{path}**| **{name}**] gespeichert',
  'api:secrets:resolve':
    'hat [das Secret **{path}**|das Secret **{name}**|ein Secret] gelesen | Secret[ **{path}**| **{name}**] gelesen',
  'info:secret_vault_pod_roll:summary':
    '| [**{restarted_count:count}** {restarted_count:veralteter Pod/veraltete Pods}|Veraltete Pods] des Secret-Vaults neu gestartet',
  'error:secret_vault_pod_roll:failure':
    '| Veraltete Pods des Secret-Vaults konnten nicht neu gestartet werden[: {@reason}]',
  'api:authorisation_policies:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:authorisation_policies:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:authorisation_policies:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:authorisation_rules:create': 'hat {@thing} angelegt | {@thing} angelegt',
  'api:authorisation_rules:update':
    'hat {@thing} geändert[ ({@changes})][: {@fields}] | {@thing} geändert[ ({@changes})][: {@fields}]',
  'api:authorisation_rules:destroy': 'hat {@thing} gelöscht | {@thing} gelöscht',
  'api:policy_assignments:create':
    'hat [dem Benutzer {@user:name}|der Gruppe {@group:name}|einem Benutzer oder einer Gruppe] [die Richtlinie {@policy:name}|die Richtlinie {@authorisation_policy:name}|eine Richtlinie] zugewiesen | Richtlinie[ {@policy:name}| {@authorisation_policy:name}] [dem Benutzer {@user:name}|der Gruppe {@group:name}|einem Benutzer oder einer Gruppe] zugewiesen',
  'api:policy_assignments:destroy':
    'hat [dem Benutzer {@user:name}|der Gruppe {@group:name}|einem Benutzer oder einer Gruppe] [die Richtlinie {@policy:name}|die Richtlinie {@authorisation_policy:name}|eine Richtlinie] entzogen | Richtlinie[ {@policy:name}| {@authorisation_policy:name}] [dem Benutzer {@user:name}|der Gruppe {@group:name}|einem Benutzer oder einer Gruppe] entzogen',
  'api:policy_rules:create':
    'hat [der Richtlinie {@policy:name}|der Richtlinie {@authorisation_policy:name}|einer Richtlinie] [die Regel {@rule:name}|die Regel {@authorisation_rule:name}|eine Regel] hinzugefügt | Regel[ {@rule:name}| {@authorisation_rule:name}] [der Richtlinie {@policy:name}|der Richtlinie {@authorisation_policy:name}|einer Richtlinie] hinzugefügt',
  'api:policy_rules:destroy':
    'hat [die Regel {@rule:name}|die Regel {@authorisation_rule:name}|eine Regel] aus [der Richtlinie {@policy:name}|der Richtlinie {@authorisation_policy:name}|einer Richtlinie] entfernt | Regel[ {@rule:name}| {@authorisation_rule:name}] aus [der Richtlinie {@policy:name}|der Richtlinie {@authorisation_policy:name}|einer Richtlinie] entfernt',
  'api:ldap_refresh:user_start':
    'hat die Aktualisierung der LDAP-Benutzer[ unter **{search_base}**] im Cache gestartet | Aktualisierung der LDAP-Benutzer[ unter **{search_base}**] im Cache gestartet',
  'api:ldap_refresh:group_start':
    'hat die Aktualisierung der LDAP-Gruppen im Cache gestartet | Aktualisierung der LDAP-Gruppen im Cache gestartet',
  'api:ldap_refresh:success':
    '| Aktualisierung der LDAP-Einträge im Cache abgeschlossen[: {entry_counts}|: {entry_counts_users} {entry_counts_users:Benutzer/Benutzer}[, {entry_counts_groups} {entry_counts_groups:Gruppe/Gruppen}]]',
  'api:ldap_refresh:warn':
    '| Aktualisierung der LDAP-Einträge im Cache hatte ein Problem und hat nichts geändert[: {@reason}]',
  'api:ldap_refresh:error':
    '| Aktualisierung der LDAP-Einträge im Cache fehlgeschlagen[: {@reason}]',
  'api:event_filter:error':
    '| {@thing} konnte nicht ausgewertet werden, daher wurden keine Abonnenten benachrichtigt[: {@reason}]',
  'api:event_subscriber:error': '| {@thing} konnte nicht benachrichtigt werden[: {@reason}]',
  'api:event_processor:error': '| Ereignis konnte nicht verarbeitet werden[: {@reason}]',
  'api:notification:error': '| {@thing} konnte nicht zugestellt werden[: {@reason}]',
  'warn:notification_channel:disabled':
    '| Benachrichtigung zurückgehalten, da [der Kanal **{channel}**|der Kanal] deaktiviert ist',
  'info:email:sent':
    'hat eine E-Mail[ an **{recipients}**] gesendet[: “{subject}”] | E-Mail[ an **{recipients}**] gesendet[: “{subject}”]',
  'error:email:send_failed':
    '| E-Mail[ “{subject}”][ an **{recipients}**] konnte nicht gesendet werden[: {@reason}]',
  'info:data_cleanup:activities':
    '| [**{removed_count:count}** {removed_count:abgeschlossene Änderung oder abgeschlossener Workflow-Lauf/abgeschlossene Änderungen und Workflow-Läufe}|Abgeschlossene Änderungen und Workflow-Läufe] gelöscht',
  'info:data_cleanup:events':
    '| [**{removed_count:count}** {removed_count:Ereignis/Ereignisse}|Ereignisse] gelöscht[, älter als {filters_max_age_days} {filters_max_age_days:Tag/Tage}]',
  'info:data_cleanup:jobs':
    '| [**{removed_count:count}** {removed_count:früherer Job/frühere Jobs}|Frühere Jobs] gelöscht',
  'info:data_cleanup:agent_images':
    '| [**{removed_count:count}** {removed_count:unbenutztes Agent-Image/unbenutzte Agent-Images}|Unbenutzte Agent-Images] gelöscht',
  'info:data_cleanup:node_background_tasks':
    '| [**{removed_count:count}** {removed_count:überholte Hintergrundaufgabe/überholte Hintergrundaufgaben}|Überholte Hintergrundaufgaben] von Knoten gelöscht',
  'info:data_cleanup:statistics':
    '| Statistiken der Abfrageplanung [für **{analyzed_tables:count}** {analyzed_tables:Tabelle/Tabellen} aktualisiert|nicht aktualisiert: {skipped_reason}|aktualisiert]',
  'error:data_cleanup:activities':
    '| Abgeschlossene Änderungen und Workflow-Läufe konnten nicht gelöscht werden[: {@reason}]',
  'error:data_cleanup:events': '| Ereignisse konnten nicht gelöscht werden[: {@reason}]',
  'error:data_cleanup:jobs': '| Frühere Jobs konnten nicht gelöscht werden[: {@reason}]',
  'error:data_cleanup:agent_images':
    '| Unbenutzte Agent-Images konnten nicht gelöscht werden[: {@reason}]',
  'error:data_cleanup:node_background_tasks':
    '| Überholte Hintergrundaufgaben von Knoten konnten nicht gelöscht werden[: {@reason}]',
  'error:data_cleanup:statistics':
    '| Statistiken der Abfrageplanung konnten nicht aktualisiert werden[: {@reason}]',
  'warn:resource_slot_pool:full':
    '| Aufgaben warten: alle[ **{configured_limit}**] Plätze [des Pools **{pool}**|eines Pools] sind belegt',
  'api:resource_slot_freed_listener:error':
    '| Überwachung frei werdender Plätze fehlgeschlagen[: {@reason}]',
  'info:api_autoscaler:grow': '| API-Worker hinzugefügt, da sich Anfragen stauten',
  'info:api_autoscaler:shrink': '| API-Worker entfernt, da keine Anfragen mehr warten',
  'warn:api_autoscaler:grow_blocked_connections':
    '| API-Worker konnte nicht hinzugefügt werden: zu wenige freie Datenbankverbindungen',
  'warn:api_autoscaler:grow_blocked_memory':
    '| API-Worker konnte nicht hinzugefügt werden: zu wenig freier Arbeitsspeicher',
  'warn:api_autoscaler:worker_killed_memory':
    '| API-Worker [{dry_run=true}wäre ersetzt worden|{mode=dry_run}wäre ersetzt worden|ersetzt] wegen [**{worker_rss:bytes}** belegten Arbeitsspeichers[, andere belegen {baseline_rss:bytes}]|des belegten Arbeitsspeichers]',
  'error:api_autoscaler:tick_failed':
    '| API-Autoscaler konnte die Last nicht auswerten[: {@reason}]',
  'info:database_cluster:registered':
    '| Datenbankcluster[ **{cluster_name}**| {@thing:name}][ am Standort {@site:name}] registriert',
  'info:database_cluster:role_changed':
    '| Datenbankcluster[ **{cluster_name}**| {@thing:name}][ am Standort {@site:name}] hat die Rolle[ zu **{role}**] gewechselt',
  'info:site:cordoned':
    'hat [den Standort **{cluster_name}**|{@thing}] für neue Arbeit gesperrt[: “{cordon_reason}”] | [Standort **{cluster_name}**|{@thing}] für neue Arbeit gesperrt[, durch **{cordoned_by}**][: “{cordon_reason}”]',
  'info:site:uncordoned':
    'hat [den Standort **{cluster_name}**|{@thing}] wieder für neue Arbeit geöffnet | [Standort **{cluster_name}**|{@thing}] wieder für neue Arbeit geöffnet',
  'error:api:controller:unhandled':
    'hat[ bei **{request_method} {@route}**] einen Fehler ausgelöst[: {@reason}] | [**{request_method} {@route}**|Anfrage] fehlgeschlagen[: {@reason}]',
  'api:job:error': '| {@thing} konnte nicht erneut eingereiht werden[: {@reason}]',
  'error:logforwarder:log_failure':
    '| Ausgaben von Schritten konnten nicht weitergeleitet werden und wurden in der Datenbank gespeichert[: {@reason}]',
} as const
