/*
 * A trigger BEFORE INSERT on a log: the row goes into the partition of its day, and nowhere else.
 * The plan of that INSERT is kept until a row of another day comes (2013 3.4.1).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(log_insert);

static SPIPlanPtr kept_plan = NULL;
static DateADT kept_day;

static SPIPlanPtr
plan_for(const char *table, DateADT day, TupleDesc columns)
{
	int			year,
				month,
				of_month;
	StringInfoData text;
	Oid		   *types = palloc(columns->natts * sizeof(Oid));
	SPIPlanPtr	plan;

	j2date(day + POSTGRES_EPOCH_JDATE, &year, &month, &of_month);
	initStringInfo(&text);
	appendStringInfo(&text, "INSERT INTO %s_%04d%02d%02d VALUES (", table, year, month, of_month);
	for (int at = 0; at < columns->natts; at++)
	{
		types[at] = SPI_gettypeid(columns, at + 1);
		appendStringInfo(&text, at ? ", $%d" : "$%d", at + 1);
	}
	appendStringInfoChar(&text, ')');
	plan = SPI_prepare(text.data, columns->natts, types);
	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "cannot prepare: %s", text.data);
	return plan;
}

Datum
log_insert(PG_FUNCTION_ARGS)
{
	TriggerData *called = (TriggerData *) fcinfo->context;
	TupleDesc	columns;
	Datum	   *values;
	bool	   *is_null;
	char	   *nulls;
	DateADT		day;
	int			date_column;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(called->tg_event) ||
		!TRIGGER_FIRED_BY_INSERT(called->tg_event))
		elog(ERROR, "log_insert is a trigger BEFORE INSERT FOR EACH ROW");
	columns = RelationGetDescr(called->tg_relation);
	values = palloc(columns->natts * sizeof(Datum));
	is_null = palloc(columns->natts * sizeof(bool));
	nulls = palloc(columns->natts);
	heap_deform_tuple(called->tg_trigtuple, columns, values, is_null);
	for (int at = 0; at < columns->natts; at++)
		nulls[at] = is_null[at] ? 'n' : ' ';
	date_column = SPI_fnumber(columns, "date");
	if (date_column < 1 || is_null[date_column - 1])
		elog(ERROR, "the row has no date");
	day = DatumGetDateADT(values[date_column - 1]);

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "cannot connect to SPI");
	if (kept_plan == NULL || kept_day != day)
	{
		if (kept_plan != NULL)
			SPI_freeplan(kept_plan);
		kept_plan = NULL;
		kept_plan = plan_for(SPI_getrelname(called->tg_relation), day, columns);
		kept_day = day;
	}
	if (SPI_execute_plan(kept_plan, values, nulls, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "cannot insert into the partition");
	SPI_finish();
	return PointerGetDatum(NULL);
}
