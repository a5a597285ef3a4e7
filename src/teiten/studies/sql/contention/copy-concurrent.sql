COPY bulk FROM 'teiten-bulk-rows';
