declare class AppModule {}
