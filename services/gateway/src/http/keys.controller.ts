import { Controller, Inject } from '@nestjs/common';
import { keyScopes, type ApiKey, type CreatedKey, type CreatedProject, type Project } from '#contracts';
import type { Caller } from '../access/caller.js';
import { firstKeyOf, KeyIssuer } from '../access/key-issuer.js';
import { Keys } from '../postgres/keys.js';
import { Projects } from '../postgres/projects.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { notFound, ProblemError, problemOf } from './problem.js';
import { microsOf } from './query-times.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

interface Page<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

/** Projects and their keys. */
@Controller()
export class KeysController {
  constructor(
    @Inject(Keys) private readonly keys: Keys,
    @Inject(Projects) private readonly projects: Projects,
    @Inject(KeyIssuer) private readonly issuer: KeyIssuer,
  ) {}

  @Route(routes.listProjects)
  async listProjects(
    @CurrentCaller() { key, project }: Caller,
    @Input() { query }: InputOf<typeof routes.listProjects>,
  ): Promise<Page<Project>> {
    const rows = await this.projects.list(key === null ? undefined : project, decodeCursor(query.cursor), query.limit);
    return pageOf(rows, query.limit, ({ created_at: at, project: id }) => ({ at, id }));
  }

  @Route(routes.createProject)
  async createProject(
    @CurrentCaller() { key, who }: Caller,
    @Input() { body }: InputOf<typeof routes.createProject>,
  ): Promise<CreatedProject> {
    // The creator's own key is of another project, so without this nobody could use the new one.
    const first = key === null ? null : firstKeyOf(body.project);
    const created = await this.projects.create(body.project, first?.row ?? null, who);
    if (created === undefined) throw new ProblemError(problemOf('conflict', 409, `The project ${body.project} exists already.`));
    this.issuer.changed();
    return {
      ...created.project,
      key: first === null || created.key === null ? null : { ...created.key, key: first.text, notes: [] },
    };
  }

  @Route(routes.listKeys)
  async listKeys(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listKeys>,
  ): Promise<Page<ApiKey>> {
    const rows = await this.keys.list(project, decodeCursor(query.cursor), query.limit);
    return pageOf(rows, query.limit, ({ created_at: at, id }) => ({ at, id }));
  }

  @Route(routes.createKey)
  async createKey(@CurrentCaller() caller: Caller, @Input() { body }: InputOf<typeof routes.createKey>): Promise<CreatedKey> {
    const { project = caller.project, name, scopes } = body;
    if (project !== caller.project && caller.key !== null)
      throw new ProblemError(
        problemOf(
          'forbidden',
          403,
          `This key is of the project ${caller.project}; a key of ${project} is made with a key of ${project}.`,
        ),
      );
    const expiresAt = microsOf('expires_at', body.expires_at) ?? null;
    return this.issuer.issue({ project, name, scopes: keyScopes.filter((scope) => scopes.includes(scope)), expiresAt }, caller);
  }

  @Route(routes.revokeKey)
  async revokeKey(
    @CurrentCaller() { project, who }: Caller,
    @Input() { params }: InputOf<typeof routes.revokeKey>,
  ): Promise<ApiKey> {
    const key = await this.keys.revoke(project, params.id, who);
    if (key === undefined) throw notFound(`The project ${project} has no key ${params.id}; GET /v1/keys lists them.`);
    this.issuer.changed();
    return key;
  }
}
