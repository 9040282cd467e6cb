import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CapturedCase, EvalCaseDetail, EvalCasesPage, ImportedCases, RemovedCase } from '#contracts';
import { stringifyJson } from '#ingest';
import type { Caller } from '../access/caller.js';
import { importAnswer } from '../evalset/import-answer.js';
import { inputProblem, keptInput, keptNotes } from '../evalset/kept-text.js';
import { readLines } from '../evalset/read-lines.js';
import { EvalCases } from '../postgres/eval-cases.js';
import { EvalSetChanges } from '../postgres/eval-set-changes.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { JSON_LINES } from './evalset-routes.js';
import { invalidRequest, notFound, ProblemError, problemOf } from './problem.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

/** JSON alone is one line of JSON Lines. Types that a web page may send without asking are not among them. */
const LINE_TYPES = /^application\/(x-ndjson|jsonl|x-jsonlines|json)\s*(;|$)/i;

@Controller()
export class EvalSetController {
  constructor(
    @Inject(EvalCases) private readonly cases: EvalCases,
    @Inject(EvalSetChanges) private readonly changes: EvalSetChanges,
  ) {}

  @Route(routes.listCases)
  async list(@CurrentCaller() { project }: Caller, @Input() { query }: InputOf<typeof routes.listCases>): Promise<EvalCasesPage> {
    const { cursor, limit, kind, signature, replayable } = query;
    const filter = { kind, signature, replayable: replayable === undefined ? undefined : replayable === 'true' };
    const version = await this.cases.version(project);
    const rows = await this.cases.list(project, filter, decodeCursor(cursor), limit);
    return { ...pageOf(rows, limit, ({ created_at: at, id }) => ({ at, id })), version };
  }

  @Route(routes.captureCase)
  async capture(@CurrentCaller() caller: Caller, @Input() { body }: InputOf<typeof routes.captureCase>): Promise<CapturedCase> {
    const { session_id: session, turn_index: turn, kind, signature, notes, replay_input: input } = body;
    refuseLarge(input);
    const kept = { session, turn, kind, signature, notes: keptNotes(notes), replayInput: keptInput(input) };
    const result = await this.changes.captureTurn(caller, kept);
    if (result === undefined)
      throw notFound(`Turn ${turn} of this session has no report yet, so there are no scores to keep with it.`);
    if (result.result === 'refused')
      throw noRoom('Wins alone fill the eval set (eval_case_max), and wins are never evicted: raise it, or remove wins.');
    const { replay_input: _, version, ...shown } = await this.found(caller, result.case.id);
    const evicted = result.result === 'captured' ? result.evicted.map(({ id }) => id) : [];
    return { result: result.result, case: shown, evicted, version };
  }

  @Route(routes.exportCases)
  async export(@CurrentCaller() { project }: Caller, @Res() reply: FastifyReply): Promise<void> {
    const { version, lines } = await this.cases.all(project);
    const text = lines.map((line) => `${stringifyJson(line)}\n`).join('');
    await reply.type(JSON_LINES).header('fleetmend-evalset-version', version).send(text);
  }

  @Route(routes.importCases)
  async import(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<ImportedCases> {
    const lines = readLines(linesOf(request));
    const cases = lines.flatMap(({ kept }) => (kept === null ? [] : [kept]));
    const { version, results } = await this.changes.captureAll(caller, cases);
    return importAnswer(lines, results, version ?? (await this.cases.version(caller.project)));
  }

  @Route(routes.readCase)
  async read(@CurrentCaller() caller: Caller, @Input() { params }: InputOf<typeof routes.readCase>): Promise<EvalCaseDetail> {
    return this.found(caller, params.id);
  }

  @Route(routes.removeCase)
  async remove(@CurrentCaller() caller: Caller, @Input() { params }: InputOf<typeof routes.removeCase>): Promise<RemovedCase> {
    const version = await this.changes.remove(caller, params.id);
    if (version === undefined) throw unknownCase(params.id);
    return { id: params.id, version };
  }

  @Route(routes.attachInput)
  async attach(
    @CurrentCaller() caller: Caller,
    @Input() { params, body }: InputOf<typeof routes.attachInput>,
  ): Promise<EvalCaseDetail> {
    refuseLarge(body.replay_input);
    const notes = body.notes === undefined ? undefined : keptNotes(body.notes);
    if (!(await this.changes.attach(caller, params.id, keptInput(body.replay_input), notes))) throw unknownCase(params.id);
    return this.found(caller, params.id);
  }

  private async found({ project }: Caller, id: string): Promise<EvalCaseDetail> {
    const found = await this.cases.find(project, id);
    if (found === undefined) throw unknownCase(id);
    return found;
  }
}

function linesOf({ headers, body }: FastifyRequest): Uint8Array {
  const type = headers['content-type'] ?? '(none)';
  if (!LINE_TYPES.test(type))
    throw new ProblemError(
      problemOf(
        'unsupported-media-type',
        415,
        `The content type is ${type}: send JSON Lines with "Content-Type: ${JSON_LINES}".`,
      ),
    );
  return body instanceof Uint8Array ? body : new Uint8Array();
}

function refuseLarge(input: unknown): void {
  const problem = inputProblem(input);
  if (problem !== undefined) throw invalidRequest(`${problem.path} ${problem.message}.`, [problem]);
}

const unknownCase = (id: string): ProblemError => notFound(`The eval set has no case ${id}; GET /v1/evalset lists them.`);

const noRoom = (detail: string): ProblemError => new ProblemError(problemOf('no-room', 409, detail));
